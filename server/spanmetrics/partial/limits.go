package partial

// Limits bounds the number of keys in a Set.
type Limits struct {
	Services   int
	PerService Groups
	Overall    Groups // over all services
}

// Groups is a number of keys of each family.
type Groups struct{ Operations, Kinds, Dependencies int }

// Family is one of the families of groups.
type Family uint8

// The families.
const (
	Operations Family = iota
	Kinds
	Dependencies
	families
)

// String returns "operation", "service" or "dependency".
func (f Family) String() string {
	return [...]string{"operation", "service", "dependency"}[f]
}

// Families returns every family.
func Families() []Family { return []Family{Operations, Kinds, Dependencies} }

func (g Groups) of(f Family) int {
	return [...]int{g.Operations, g.Kinds, g.Dependencies}[f]
}

package dogstatsd

// testNow is the time of arrival in tests, in 2023.
const testNow = 1_700_000_000

package diskqueue

const childJob = "DISKQUEUE_TEST_CHILD"

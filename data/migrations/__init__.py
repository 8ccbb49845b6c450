"""The steps from each released form of the store to the next, run by `..schema`."""

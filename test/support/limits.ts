/** The limit of a test, which only ends one that hangs: tests wait for events, not for time. */
export const testTimeoutMs = 180_000;

/** A wait within a test ends a little earlier, so that the error names the missing event. */
export const waitTimeoutMs = testTimeoutMs - 10_000;

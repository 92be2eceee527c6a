/** The limit of a test, which only ends one that hangs: tests wait for events, not for time. */
export const testTimeoutMs = 180_000;

/** What a test waits for ends a little earlier, so that the error says what was missing. */
export const waitTimeoutMs = testTimeoutMs - 10_000;

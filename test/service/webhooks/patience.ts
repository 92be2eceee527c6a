/** Only ends a wait that would have no end: what is waited for comes in a moment, on a busy machine too. */
export const patient = { timeout: 30_000 };

/**
 * The longest text for another step or job: an output or saved state becomes an environment variable there. One has at most
 * 32,767 characters on Windows (`SetEnvironmentVariable`) and 128 KiB on Linux. The limit is the same on every system,
 * because jobs of one workflow can run on several.
 */
const maxVariableLength = 30_000;

export const fitsVariable = (text: string): boolean => text.length <= maxVariableLength;

/**
 * The maximum length of a text for another step or job: an output or saved state becomes an environment variable there.
 * Windows allows 32,767 characters (`SetEnvironmentVariable`), Linux 128 KiB. The limit is the same on every system,
 * because jobs of one workflow can run on several.
 */
const maxVariableLength = 30_000;

export const fitsVariable = (text: string): boolean => text.length <= maxVariableLength;

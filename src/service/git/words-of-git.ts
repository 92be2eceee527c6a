const longest = 500;

const noise = [
  /^(remote: )?[A-Z][A-Za-z ]*: +\d/,
  /^(remote: )?Total \d/,
  /^(hint|warning): /,
  /^From /,
  /^Please make sure you have the correct access rights/,
  /^and the repository exists\./,
];

/** The last things that git said before it failed, in one line: no progress, no advice for somebody at a terminal. */
export function wordsOfGit(errorLines: readonly string[]): string {
  const words = errorLines
    .map((line) => line.replaceAll(/\p{Cc}+/gu, ' ').trim())
    .filter((line) => line !== '' && line !== 'remote:' && !noise.some((pattern) => pattern.test(line)))
    .slice(-3)
    .join(' ');
  return words.length > longest ? `${words.slice(0, longest)}…` : words;
}

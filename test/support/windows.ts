/**
 * Tests that are skipped on Windows, by the pattern of their files, with the reason. The action also supports Windows;
 * the service runs on Linux and macOS.
 */
export const leftOutOnWindows: Readonly<Record<string, string>> = {
  'test/service/**':
    'The service is for Linux and macOS: its tests send signals, read file modes and replace git by shell scripts.',
  'test/fire/**': 'What befalls the service, which is for Linux and macOS: full disks, lost signals, too many files.',
  'test/docs/**': 'The commands, workflows and reverse proxies of the docs are for Linux and macOS.',
  'test/demo/**': 'The demo puts a program in place of ssh, and its tests end it with signals.',
  'test/workflows/**': 'The workflows of the project run their scripts in bash on Linux.',
  'test/package.test.ts': 'What is packed is the command of the service, and the test ends it with a signal.',
  'test/e2e/git-lfs.test.ts': 'It sets up git and git-lfs for a person as on Linux and macOS.',
  'test/e2e/sync.test.ts': 'It cancels a step with a signal, which Windows does not have.',
  'test/e2e/scenarios/cancelled.test.ts': 'It cancels a step with a signal, which Windows does not have.',
  'test/e2e/scenarios/model/**': 'It cancels steps with a signal, which Windows does not have.',
  'test/action/mistaken-paths.test.ts':
    'The checkout of the test has file names and links that Windows does not allow.',
  'test/action/paths.test.ts': 'The checkout of the test has file names and links that Windows does not allow.',
  'test/action/post-step/report.test.ts':
    'The command for releasing by hand is for a POSIX shell, and the test runs it in one.',
};

/** For the settings of the test runner. */
export const excludedHere = process.platform === 'win32' ? Object.keys(leftOutOnWindows) : [];

/** Reports once, before the tests, which of them this system does not run. */
export default function announceLeftOut(): void {
  for (const pattern of excludedHere) {
    process.stderr.write(`Left out on Windows: ${pattern}. ${leftOutOnWindows[pattern]}\n`);
  }
}

import type { LockPath } from '../../interface/lock-path.ts';

/** See "Naming Files, Paths, and Namespaces" in the Win32 documentation. An extension does not matter. */
const deviceName = /^(?:con|prn|aux|nul|(?:com|lpt)[0-9¹²³]|conin\$|conout\$) *(?:\.|$)/i;

const reservedCharacter = /[<>:"|?*]/;

/** Reason why a path is invalid on Windows, or names the same file as a shorter one. Does not quote the path. */
export function windowsPathProblem(path: LockPath): string | undefined {
  if (reservedCharacter.test(path)) {
    return 'A path must not have any of the characters < > : " | ? * on Windows, where a colon names a drive or a part of another file.';
  }
  const segments = path.split('/');
  if (segments.some((segment) => segment.endsWith('.') || segment.endsWith(' '))) {
    return 'A path must not have a segment that ends in a dot or a space: Windows drops both, so that it would be the path of another file.';
  }
  if (segments.some((segment) => deviceName.test(segment))) {
    return 'A path must not have a segment that is the name of a device on Windows, such as CON, NUL, COM1 or LPT1, with or without an extension.';
  }
  return undefined;
}

import { errorMessage } from './format.ts';
import { networkErrorText } from './network-errors.ts';

/** Reasons why system calls on files fail, to complete a sentence. Keys are codes of errno(3). */
const fileTexts: Readonly<Record<string, string>> = {
  EACCES: 'this user may not read and write it',
  EPERM: 'this user may not read and write it',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EIO: 'the disk reports an error',
  EBUSY: 'it is in use',
  ESTALE: 'its network file system has lost it',
  EEXIST: 'it is a file, not a folder',
  ENOTDIR: 'a part of its path is a file, not a folder',
  ELOOP: 'its path has too many symbolic links',
  ENAMETOOLONG: 'its path is too long',
  EMFILE: 'the service has too many files open',
  ENFILE: 'this machine has too many files open',
  EAGAIN: 'this machine has too many processes',
  ENOMEM: 'this machine has no memory left',
};

/** The code of an error of the system or of Node; empty for other errors. */
export const errorCode = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

export const fileErrorText = (code: string): string | undefined => fileTexts[code];

export const systemErrorText = (code: string): string | undefined => fileTexts[code] ?? networkErrorText(code);

/** Why a program could not be started, to complete a sentence. */
export const startErrorText = (error: unknown): string =>
  startErrors[errorCode(error)] ?? fileErrorText(errorCode(error)) ?? errorMessage(error);

const startErrors: Readonly<Record<string, string>> = {
  ENOENT: 'it, or its interpreter, does not exist',
  EACCES: 'this user may not run it',
  E2BIG: 'its arguments and variables are too long',
  ENOBUFS: 'its output is too long',
  ETIMEDOUT: 'it did not end in time',
};

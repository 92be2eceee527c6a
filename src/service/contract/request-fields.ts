import { z } from '@hono/zod-openapi';
import { forbiddenInBranchName, maxBranchNameLength, parseBranchName } from '../../interface/branch-name.ts';
import { durationPattern, formatDuration, maxTtl, minTtl, parseTtl } from '../../interface/duration.ts';
import {
  forbiddenInLockPath,
  forbiddenInNote,
  maxLockPathBytes,
  maxNoteLength,
  misleading,
  parseLockPath,
  parseNote,
} from '../../interface/lock-path.ts';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import { lockTypes } from '../../interface/resources.ts';

/** Uses a parser of the service in a schema. Its reason becomes the error message. */
export const parsedBy =
  <Given, Output>(parse: (given: Given) => Parsed<Output>) =>
  (given: Given, context: z.RefinementCtx): Output => {
    const parsed = parse(given);
    if (parsed.ok) return parsed.value;
    context.addIssue({ code: 'custom', message: parsed.reason });
    return z.NEVER;
  };

/** JSON Schema counts characters. A text never has more characters than bytes, so the byte limit is valid for both. */
export const describedLockPath = {
  type: 'string',
  minLength: 1,
  maxLength: maxLockPathBytes,
  not: { pattern: `${forbiddenInLockPath}|${misleading.source}` },
  description: `Relative to the workspace, with / as the separator; case-sensitive. Stored in NFC, in which it has at most ${maxLockPathBytes} bytes of UTF-8.`,
  example: 'Content/Hero.uasset',
} as const;

export const lockPathField = z.string().transform(parsedBy(parseLockPath)).openapi(describedLockPath);

export const describedBranch = {
  type: 'string',
  minLength: 1,
  maxLength: maxBranchNameLength,
  not: { pattern: forbiddenInBranchName },
  description: `The short name, without refs/heads/: at most ${maxBranchNameLength} bytes of UTF-8, valid for git-check-ref-format(1).`,
  example: 'main',
} as const;

export const branchField = z.string().transform(parsedBy(parseBranchName)).openapi(describedBranch);

/** A one-line message from one person to others. An empty message counts as none. */
export const noteField = z
  .string()
  .transform(parsedBy(parseNote))
  .openapi({ type: 'string', maxLength: maxNoteLength, not: { pattern: forbiddenInNote } });

export const lockRequestSchema = z
  .object({
    path: lockPathField,
    type: z.enum(lockTypes),
    ttl: z
      .string()
      .transform(parsedBy(parseTtl))
      .openapi({
        type: 'string',
        pattern: durationPattern.source,
        description: `From ${formatDuration(minTtl)} to ${formatDuration(maxTtl)}.`,
        example: '1h',
      }),
    note: noteField
      .nullable()
      .default(null)
      .openapi({
        type: ['string', 'null'],
        description:
          'Note for anyone who finds the path locked, in one line. Renewals keep it, and ignore the note of the request.',
        example: 'Repainting the hull, back on Monday',
      }),
  })
  .openapi('LockRequest');

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern must exclude control characters.
const withoutControls = /^[^\x00-\x1f\x7f-\x9f]*$/;

/** Text that both databases can store and compare. */
export const plainText = z
  .string()
  .max(maxLockPathBytes, `It must not have more than ${maxLockPathBytes} characters.`)
  .refine((text) => text.isWellFormed() && withoutControls.test(text), 'It must not have control characters.')
  .transform((text) => text.normalize('NFC'))
  .openapi({ type: 'string', maxLength: maxLockPathBytes, pattern: withoutControls.source });

/** The position in a list of locks: the last path. Opaque to clients, so that its content can change. */
export const writeCursor = (lastPath: string): string => Buffer.from(lastPath).toString('base64url');

/** RFC 4648: three bytes become four characters. */
export const maxCursorLength = Math.ceil((4 * maxLockPathBytes) / 3);

const notACursor = refused('It is not a cursor of this list. Start again without a cursor.');

export function readCursor(cursor: string): Parsed<string> {
  if (cursor.length > maxCursorLength) return notACursor;
  const path = Buffer.from(cursor, 'base64url').toString();
  return writeCursor(path) === cursor && parseLockPath(path).ok ? accepted(path) : notACursor;
}

import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import { looksLikeTokenSecret } from './secret.ts';

/** Longer than any name of a token or of a user of the command line. */
const maxActorLength = 1_024;

/** Name or id of a token. A secret, easily mistaken for an id, is rejected before it can be printed. */
export function parseAuditActor(text: string): Parsed<string> {
  if (looksLikeTokenSecret(text)) {
    return refused(
      'This is the secret of a token. Use its name or its id, as "workspace-service token list" shows them.',
    );
  }
  if (text.length > maxActorLength) return refused('It is longer than any name.');
  return /\p{Cc}/u.test(text) ? refused('It must not have control characters.') : accepted(text.normalize('NFC'));
}

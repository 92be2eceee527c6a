import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import { looksLikeTokenSecret } from './secret.ts';

/** Longer than any name, also of the people who use the command. */
const maxActorLength = 1_024;

/** Name or id of a token. A secret is easily mistaken for an id: it is refused before it can be repeated. */
export function parseAuditActor(text: string): Parsed<string> {
  if (looksLikeTokenSecret(text)) {
    return refused(
      'This is the secret of a token. Give its name or its id, as "workspace-service token list" shows them.',
    );
  }
  if (text.length > maxActorLength) return refused('No name is that long.');
  return /\p{Cc}/u.test(text) ? refused('A name has no control characters.') : accepted(text.normalize('NFC'));
}

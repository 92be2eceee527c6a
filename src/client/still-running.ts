import { problemTypePrefix } from '../interface/problem.ts';
import { type Answer, headerOf, objectIn } from './answer.ts';
import { rawWordsOf } from './error-words.ts';
import { nameIn } from './json.ts';
import { holderIn } from './known-lock.ts';

const ours = `${problemTypePrefix}request-in-progress`;

/**
 * Whether a 409 says that an earlier request with the same Idempotency-Key is still at work. Where it names neither
 * that nor a lock, this is only believed of a key that can have arrived before: for a new one it would be a riddle.
 */
export function isStillRunning(answer: Answer, keyMayHaveArrived: boolean): boolean {
  if (answer.status !== 409) return false;
  const body = objectIn(answer);
  const type = nameIn(body['type']) ?? '';
  if (type.startsWith(problemTypePrefix)) return type === ours;
  if (holderIn(answer) !== undefined) return false;
  const words = `${type} ${rawWordsOf(body) ?? ''}`;
  if (/idempoten/i.test(words) && /progress|running|outstanding|process|concurrent/i.test(words)) return true;
  return keyMayHaveArrived && headerOf(answer, 'retry-after') !== undefined;
}

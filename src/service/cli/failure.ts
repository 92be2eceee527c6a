/** An expected failure of a command. The message is a sentence for a person and holds no secret. */
export class Failure extends Error {
  override readonly name = 'Failure';
}

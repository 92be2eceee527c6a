/** What was asked for is not possible now. The message is a sentence for a person and holds no secret. */
export class Failure extends Error {
  override readonly name = 'Failure';
}

/**
 * Between processes on the same database. Nothing may depend on it: a message can be lost, and what it told of is in the
 * database all the same.
 */
export interface Broadcast {
  /** Fulfilled when it has been sent, or could not be. */
  send(message: string): Promise<void>;
  /** Calls back with each message, and with undefined when anything may have happened; gives what ends that. */
  listen(onMessage: (message: string | undefined) => void): () => void;
}

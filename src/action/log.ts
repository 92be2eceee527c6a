/** What a step says while it runs. Everything said is made safe for the log by whoever implements this. */
export interface Log {
  /** One thing done, or one thing waited for. */
  line(text: string): void;
  /** Something that a person should look at, though the step goes on. */
  warn(text: string): void;
  /** Only for the runner's debug log. */
  debug(text: string): void;
  /** Details behind a title that can be unfolded. */
  group(title: string, lines: readonly string[]): void;
}

import type { Parsed } from '../../interface/parsed.ts';

/** A value that people enter as text, with a flag of a command or an input of a form. */
export interface Field<Value> {
  readonly title: string;
  /** Stands for the value in the help of the command. */
  readonly placeholder: string;
  /** A phrase without a period: the help of the flag, and the start of the hint of the input. */
  readonly hint: string;
  /** `required`, or the default. */
  readonly otherwise: string;
  readonly parse: (text: string) => Parsed<Value>;
}

/** A figure on its way from a test to the table: one line of a file. */
export interface Note {
  readonly name: string;
  readonly value: number;
}

/** The environment variable with the name of the file. Without it, nothing is written. */
export const figuresFile = 'SOAK_FIGURES';

export const noteText = (note: Note): string => `${JSON.stringify(note)}\n`;

/** JSON does not support NaN, and writes null. */
export const readNotes = (text: string): readonly Note[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
    .map(({ name, value }) => ({ name, value: value ?? Number.NaN }));

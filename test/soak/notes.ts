/** One figure of a test, stored as a line of a file until the table is printed. */
export interface Note {
  readonly name: string;
  readonly value: number;
}

/** The environment variable with the name of the file. If it is not set, nothing is written. */
export const figuresFile = 'SOAK_FIGURES';

export const noteText = (note: Note): string => `${JSON.stringify(note)}\n`;

/** JSON does not support NaN, and writes null. */
export const readNotes = (text: string): readonly Note[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
    .map(({ name, value }) => ({ name, value: value ?? Number.NaN }));

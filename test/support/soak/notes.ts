/** What tests tell, on its way to the table: a line of a file for each figure. */
export interface Note {
  readonly name: string;
  readonly value: number;
}

/** The variable of the environment with the name of the file. Without it, nothing is written. */
export const figuresFile = 'SOAK_FIGURES';

export const noteText = (note: Note): string => `${JSON.stringify(note)}\n`;

/** JSON has no NaN, and writes null. */
export const readNotes = (text: string): readonly Note[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
    .map(({ name, value }) => ({ name, value: value ?? Number.NaN }));

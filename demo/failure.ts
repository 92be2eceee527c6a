/** The message is a sentence for the person at the terminal, who needs no stack. */
export class DemoFailure extends Error {}

/** What a request is answered with. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Empty for none; JSON, where the headers name no other type. */
  readonly body: string;
}

export const jsonAnswer = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Answer => ({
  status,
  headers,
  body: JSON.stringify(body),
});

export const emptyAnswer = (status: number): Answer => ({ status, headers: {}, body: '' });

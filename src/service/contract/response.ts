export interface ApiResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Empty for no body. JSON, unless the headers set another type. */
  readonly body: string;
}

export const jsonApiResponse = (
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): ApiResponse => ({
  status,
  headers,
  body: JSON.stringify(body),
});

export const emptyResponse = (status: number): ApiResponse => ({ status, headers: {}, body: '' });

/** The result of a request, or of an earlier one with the same Idempotency-Key. */
export interface Once<Result> {
  readonly result: Result;
  readonly replayed: boolean;
}

export const onceResponse = ({ result, replayed }: Once<ApiResponse>): ApiResponse =>
  replayed ? { ...result, headers: { ...result.headers, 'idempotency-replayed': 'true' } } : result;

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

/** The response to a request that was carried out before with the same Idempotency-Key says so. */
export const onceResponse = (response: ApiResponse, replayed: boolean): ApiResponse =>
  replayed ? { ...response, headers: { ...response.headers, 'idempotency-replayed': 'true' } } : response;

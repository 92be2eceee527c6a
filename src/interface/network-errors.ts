const texts: Readonly<Record<string, string>> = {
  ENOTFOUND: 'its host name could not be resolved',
  EAI_AGAIN: 'its host name could not be resolved at the moment',
  ECONNREFUSED: 'nothing is listening on its host and port',
  ECONNRESET: 'it closed the connection',
  EHOSTUNREACH: 'its host could not be reached',
  ENETUNREACH: 'its network could not be reached',
  ETIMEDOUT: 'it did not answer in time',
};

/** Why a server did not answer, to complete a sentence, by the code of errno(3) or getaddrinfo(3). */
export const networkErrorText = (code: string): string | undefined => texts[code];

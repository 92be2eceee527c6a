const texts: Readonly<Record<string, string>> = {
  ENOTFOUND: 'its host name does not resolve',
  EAI_AGAIN: 'its host name does not resolve now',
  ECONNREFUSED: 'nothing listens at its host and port',
  ECONNRESET: 'it closes the connection',
  EHOSTUNREACH: 'its host cannot be reached',
  ENETUNREACH: 'its network cannot be reached',
  ETIMEDOUT: 'it does not answer in time',
};

/** The reason why a server did not answer, to complete a sentence, by the code of errno(3) or getaddrinfo(3). */
export const networkErrorText = (code: string): string | undefined => texts[code];

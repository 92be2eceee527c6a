import { randomUUID } from 'node:crypto';

export const newTokenId = (): string => `tok_${randomUUID()}`;

export const looksLikeTokenId = (text: string): boolean => /^tok_[0-9a-f-]{36}$/.test(text);

import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import { propertyPrefix } from './issuers.ts';

export type RuleClaim = readonly [name: string, value: string];

export const parseClaim = (text: string): Parsed<RuleClaim> =>
  parsePair(text, 'project_id=42', parseClaimName, parseClaimValue);

/** A custom property of a repository on GitHub, as the claim for it. */
export const parseProperty = (text: string): Parsed<RuleClaim> =>
  parsePair(text, 'asset-repo=true', parsePropertyName, parsePropertyValue);

function parsePair(
  text: string,
  example: string,
  parseName: (text: string) => Parsed<string>,
  parseValue: (text: string) => Parsed<string>,
): Parsed<RuleClaim> {
  const end = text.indexOf('=');
  if (end === -1) return refused(`It must be a name and a value, such as ${example}.`);
  const name = parseName(text.slice(0, end));
  if (!name.ok) return name;
  const value = parseValue(text.slice(end + 1));
  return value.ok
    ? accepted([name.value, value.value])
    : refused(`The value of ${name.value} cannot be used. ${value.reason}`);
}

const maxClaimValueLength = 500;

/** Values are compared exactly, so invisible characters must be mistakes. */
export function parseClaimValue(text: string): Parsed<string> {
  if (text === '') return refused('It must not be empty.');
  if (text.length > maxClaimValueLength) return refused(`It must have at most ${maxClaimValueLength} characters.`);
  if (text.trim() !== text) return refused('It begins or ends with a space.');
  return /\p{C}/u.test(text) ? refused('It must not have control or invisible characters.') : accepted(text);
}

const maxClaimNameLength = 100;
const registeredClaims = ['iss', 'aud', 'exp', 'iat', 'nbf', 'jti'];

function parseClaimName(text: string): Parsed<string> {
  if (text.length > maxClaimNameLength || !/^[A-Za-z][\w.:/-]*$/.test(text)) {
    return refused(
      `The name of a claim begins with a letter and has at most ${maxClaimNameLength} letters, digits or any of _ . : / -.`,
    );
  }
  return registeredClaims.includes(text)
    ? refused(`The claim ${text} is checked for every identity: leave it out.`)
    : accepted(text);
}

/** https://docs.github.com/en/organizations/managing-organization-settings/managing-custom-properties-for-repositories-in-your-organization */
const parsePropertyName = (text: string): Parsed<string> =>
  /^[\w$#-]{1,75}$/.test(text)
    ? accepted(`${propertyPrefix}${text}`)
    : refused('The name of a property has at most 75 letters, digits or any of _ - $ #.');

const parsePropertyValue = (text: string): Parsed<string> =>
  /^[ !#-~]*$/.test(text)
    ? parseClaimValue(text)
    : refused('It must have only printable ASCII characters, and no quotation marks.');

import { accepted, type Parsed, refused } from '../../interface/parsed.ts';

export type RuleClaim = readonly [name: string, value: string];

export function parseClaim(text: string): Parsed<RuleClaim> {
  const end = text.indexOf('=');
  if (end === -1) return refused('It must be a name and a value, such as project_id=42.');
  const name = parseClaimName(text.slice(0, end));
  if (!name.ok) return name;
  const value = parseClaimValue(text.slice(end + 1));
  return value.ok
    ? accepted([name.value, value.value])
    : refused(`The value of ${name.value} cannot be used. ${value.reason}`);
}

const maxClaimValueLength = 500;

/** Values are compared exactly, so invisible characters must be mistakes. */
function parseClaimValue(text: string): Parsed<string> {
  if (text === '') return refused('It must not be empty.');
  if (text.length > maxClaimValueLength) return refused(`It must have at most ${maxClaimValueLength} characters.`);
  if (text.trim() !== text) return refused('It begins or ends with a space.');
  return /\p{C}/u.test(text) ? refused('It must not have control or invisible characters.') : accepted(text);
}

const maxClaimNameLength = 100;
const registeredClaims = ['iss', 'aud', 'exp', 'iat', 'nbf', 'jti'];

function parseClaimName(text: string): Parsed<string> {
  if (text.length > maxClaimNameLength || !/^[A-Za-z][\w.:/$#-]*$/.test(text)) {
    return refused(
      `The name of a claim begins with a letter and has at most ${maxClaimNameLength} letters, digits or any of _ . : / $ # -.`,
    );
  }
  return registeredClaims.includes(text)
    ? refused(`The claim ${text} is checked for every identity: leave it out.`)
    : accepted(text);
}

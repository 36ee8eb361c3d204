/**
 * Hide: what may never leave a function in its logs, taken out of whatever is about to be written (P2.6). Pure.
 * Guards by form, not by place: who adds a log line need not think of it, and an error text of a library cannot slip through. Names of
 * secrets stay readable; values do not.
 */

const HIDDEN = '[hidden]';

/** Fields that hold nothing else. `secret` alone is a name here, as in the configuration. */
const FIELDS =
  /^(authorization|cookie|token|taskToken|privateKey|private_key|password|passphrase|secretString|secretAccessKey|sessionToken)$/i;

const FORMS: readonly RegExp[] = [
  // Tokens of attempts (lib/checkpoint/token.ts), with whatever was cut off or put behind.
  /dispatch1\.[A-Za-z0-9]{1,16}\.[0-9a-z]{16}\.\d+\.[A-Za-z0-9_-]+/g,
  /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z0-9 ]*PRIVATE KEY-----|$)/g,
  /\bBearer\s+[\x21-\x7e]+/gi,
  /X-Amz-(Signature|Security-Token|Credential)=[^&\s"]+/gi,
  // Task tokens and key material: nothing that people read is so long without a space or punctuation.
  /[A-Za-z0-9+/_=-]{160,}/g,
];

export const hideIn = (text: string): string => FORMS.reduce((shown, form) => shown.replaceAll(form, HIDDEN), text);

/** For JSON.stringify: by the field's name and by the value's form. */
export const hiding = (key: string, value: unknown): unknown => {
  if (value === undefined || value === null) return value;
  if (FIELDS.test(key)) return HIDDEN;
  return typeof value === 'string' ? hideIn(value) : value;
};

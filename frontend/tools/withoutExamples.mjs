// Takes the examples out of the generated client: they are for who reads the description, and would double its size.
import { readFileSync, writeFileSync } from 'node:fs';

const [path] = process.argv.slice(2);
const text = readFileSync(path, 'utf8')
  .replace(/\n\s*\* @example (?:(?!\*\/)[\s\S])*?(?=\n\s*\*\/)/g, '')
  .replace(/\/\*\* @example (?:(?!\*\/).)*\*\/\n\s*/g, '')
  .replace(/\n\s*\/\*\*\s*\*\/(?=\n)/g, '');
writeFileSync(path, text);

import i18n from 'i18next';
import { initReactI18next } from 'react-i18next';
import { readStored, writeStored } from '@/shared/ui/stored';
import type en from './en';
import first from './en.first';
import { type Sentence, saySentence } from './sentences/sentence';

declare module 'i18next' {
  interface CustomTypeOptions {
    defaultNS: 'translation';
    resources: { translation: typeof en };
  }
}

export const LANGUAGES = { en: 'English', zh: '中文' } as const;
export type Language = keyof typeof LANGUAGES;
const STORED = 'atom-language';
/** The namespace of the server's problems, by code. */
export const PROBLEMS = 'problems';
/** The namespace of what is wrong with a field, by code. */
export const FIELDS = 'fields';

type Say = (sentence: Sentence) => string | undefined;
const sayers: Partial<Record<string, Say>> = {};

/** A text of the server, in the present language if it came with a code. */
export const sayDetail = (text: string, sentence?: Sentence): string =>
  (sentence && sayers[i18n.language]?.(sentence)) ?? text;

/** English words of pages that were loaded; Chinese comes in one piece. */
const later: Partial<typeof en> = {};

/** Adds words that only some pages say: they come with those pages, not with the first one. */
export function addWords(words: Partial<typeof en>): void {
  Object.assign(later, words);
  if (i18n.isInitialized) i18n.addResourceBundle('en', 'translation', words, true, true);
}

async function load(language: Language): Promise<void> {
  if (language === 'en' || i18n.hasResourceBundle(language, 'translation')) return;
  const [words, problems, fields, sentences] = await Promise.all([
    import('./zh'),
    import('./problems.zh'),
    import('./fields.zh'),
    import('./sentences/zh'),
  ]);
  i18n.addResourceBundle(language, 'translation', words.default);
  i18n.addResourceBundle(language, PROBLEMS, problems.default);
  i18n.addResourceBundle(language, FIELDS, fields.default);
  sayers[language] = (sentence) => saySentence(sentence, sentences.default, sentences.words);
}

export async function setLanguage(language: Language): Promise<void> {
  await load(language);
  await i18n.changeLanguage(language);
  document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en';
  writeStored(STORED, language);
}

/** English unless the person chose otherwise here, or the browser asks for Chinese first. */
export function preferredLanguage(): Language {
  const stored = readStored(STORED);
  if (stored === 'en' || stored === 'zh') return stored;
  return navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en';
}

/** Resolves when the first language is ready, so that no page flashes in another one. */
export async function startI18n(): Promise<void> {
  const lng = preferredLanguage();
  const interpolation = { escapeValue: false }; // React escapes.
  await i18n
    .use(initReactI18next)
    .init({ lng: 'en', fallbackLng: 'en', resources: { en: { translation: { ...first, ...later } } }, interpolation });
  if (lng === 'en') document.documentElement.lang = 'en';
  else {
    await load(lng);
    await i18n.changeLanguage(lng);
    document.documentElement.lang = 'zh-CN';
  }
}

export default i18n;

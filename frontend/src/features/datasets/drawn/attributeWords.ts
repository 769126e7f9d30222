import { useTranslation } from 'react-i18next';

/** Attributes as words: `colour: red, blue`. */
export function useAttributeWords() {
  const { t } = useTranslation();
  const wordOf = (value: unknown): string => {
    if (typeof value === 'boolean') return t(value ? 'drawn.yes' : 'drawn.no');
    if (Array.isArray(value)) return value.map(wordOf).join(', ');
    return typeof value === 'object' ? JSON.stringify(value) : String(value);
  };
  return (attributes: Readonly<Record<string, unknown>> | undefined): string[] =>
    Object.entries(attributes ?? {}).map(([name, value]) => `${name}: ${wordOf(value)}`);
}

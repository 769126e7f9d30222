import { useTranslation } from 'react-i18next';
import type { NamedObject } from '@/shared/domain/drawn/shapes';
import classes from '../item/item.module.css';
import { useAttributeWords } from './attributeWords';

/** Label and attributes of the object that stands out. */
export function DrawnAbout({ object }: { object: NamedObject | null }) {
  const { t } = useTranslation();
  const wordsOf = useAttributeWords();
  if (!object) return null;
  const words = [object.label, object.text && `“${object.text}”`, ...wordsOf(object.attributes)];
  if (object.ignore) words.push(t('drawn.ignored'));
  // The focused row of the list has the same words for those who listen.
  return (
    <div className={classes.about} aria-hidden>
      {words.filter(Boolean).join(' · ')}
    </div>
  );
}

import classes from './LongName.module.css';
import { visible } from './visible';

const TAIL = 10;

/**
 * A name on one line, cut in the middle where there is no room: names that begin alike mostly differ at their end.
 * The whole name is there for the pointer, for a copied selection, and unfolded while the row's link has the focus.
 */
export function LongName({ value }: { value: string }) {
  const shown = visible(value);
  const characters = Array.from(shown);
  if (characters.length <= 2 * TAIL) return shown;
  return (
    <span className={classes.name} title={shown}>
      <span className={classes.head}>{characters.slice(0, -TAIL).join('')}</span>
      {characters.slice(-TAIL).join('')}
    </span>
  );
}

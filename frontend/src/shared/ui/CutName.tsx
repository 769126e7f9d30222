import classes from './CutName.module.css';

interface CutNameProps {
  name: string;
  /** The end of the name that is never cut, such as the version `@v2`. */
  tail?: string;
  /** The text after the tail, which is cut too. */
  rest?: string;
}

/** A name in a list: one line, cut where its place ends; the whole of it is the tooltip. */
export function CutName({ name, tail, rest }: CutNameProps) {
  if (!tail)
    return (
      <span className={classes.cut} title={name}>
        {name}
      </span>
    );
  return (
    <span className={classes.row} title={`${name}${tail}${rest ?? ''}`}>
      <span className={classes.part}>{name}</span>
      <span className={classes.tail}>{tail}</span>
      {rest && <span className={classes.part}>{rest}</span>}
    </span>
  );
}

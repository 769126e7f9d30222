import classes from './CutName.module.css';

/** A name in a list: one line, cut where its place ends; the whole of it is the tooltip. */
export function CutName({ name }: { name: string }) {
  return (
    <span className={classes.cut} title={name}>
      {name}
    </span>
  );
}

import classes from './compare.module.css';
import type { Look } from './looks';

/** How the run is drawn, beside its name. */
export function Swatch({ look }: { look: Look | undefined }) {
  if (!look) return null;
  return (
    <svg width="22" height="6" aria-hidden className={classes.swatch}>
      <line x1="0" x2="22" y1="3" y2="3" stroke={look.color} strokeWidth="3" strokeDasharray={look.dash?.join(' ')} />
    </svg>
  );
}

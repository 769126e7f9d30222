import type { Label } from '@/api/contract/labeling';
import { inkOn } from './labels';

/** The class of an image: a coloured tag with its name, so that colour is never the only signal. */
export function LabelChip({ label, faded = false }: { label: Label; faded?: boolean }) {
  return (
    <span
      style={{
        background: label.color,
        color: inkOn(label.color),
        opacity: faded ? 0.75 : 1,
        borderRadius: 4,
        padding: '0 6px',
        fontSize: 12,
        fontWeight: 650,
        lineHeight: '18px',
        maxWidth: '100%',
        overflow: 'hidden',
        textOverflow: 'ellipsis',
        whiteSpace: 'nowrap',
        display: 'inline-block',
      }}
    >
      {label.name}
    </span>
  );
}

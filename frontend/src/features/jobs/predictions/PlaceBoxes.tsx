import { Group, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Prediction } from '@/api/contract/jobs';
import classes from './predictions.module.css';

type Place = NonNullable<Prediction['place']>;
type Box = Place['detected'];

/** The box of the object, dashed, and that of the detection; they lie on a picture fitted into the same frame. */
export function PlaceBoxes({ place }: { place: Place }) {
  const { width, height, kind, detected, true: truth } = place;
  return (
    <svg
      className={classes.boxes}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="xMidYMid meet"
      aria-hidden="true"
    >
      <Outline box={truth} stroke="truth" />
      <Outline box={detected} stroke={kind === 'right' ? 'right' : 'wrong'} />
    </svg>
  );
}

/** A line of its colour upon a dark one: it is seen on any picture. */
function Outline({ box, stroke }: { box: Box; stroke: 'truth' | 'right' | 'wrong' }) {
  if (!box) return null;
  const [x, y, width, height] = box;
  return (
    <g data-stroke={stroke}>
      <rect x={x} y={y} width={width} height={height} className={classes.under} />
      <rect x={x} y={y} width={width} height={height} className={classes.line} />
    </g>
  );
}

/** The meaning of the lines on the tiles. */
export function PlaceLegend() {
  const { t } = useTranslation();
  return (
    <Group gap="md" mb="xs" component="ul" className={classes.grid} aria-label={t('predictions.lines')}>
      {(['truth', 'right', 'wrong'] as const).map((stroke) => (
        <Group key={stroke} gap={6} component="li" wrap="nowrap">
          <svg width="24" height="8" aria-hidden="true" data-stroke={stroke} className={classes.sample}>
            <line x1="0" x2="24" y1="4" y2="4" className={classes.under} />
            <line x1="0" x2="24" y1="4" y2="4" className={classes.line} />
          </svg>
          <Text size="xs" c="dimmed">
            {t(`predictions.line.${stroke}`)}
          </Text>
        </Group>
      ))}
    </Group>
  );
}

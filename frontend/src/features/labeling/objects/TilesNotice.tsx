import { Button, Center, Progress, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import classes from './objects.module.css';
import type { Tiles } from './useTiles';

const REASONS = ['too_large', 'unreadable', 'too_deep', 'heavy', 'missing'] as const;

/** Over the picture while its tiles are made, or could not be. */
export function TilesNotice({ tiles }: { tiles: Tiles }) {
  const { t } = useTranslation();
  if (tiles.state === 'making')
    return (
      <div className={classes.making} role="status">
        <Text size="xs">{t('labeling.objects.tiles.making', { progress: tiles.progress })}</Text>
        <Progress value={tiles.progress} size="sm" aria-label={t('labeling.objects.tiles.progress')} />
      </div>
    );
  if (tiles.state !== 'failed') return null;
  const reason = REASONS.find((known) => known === tiles.reason);
  return (
    <Center className={classes.over} role="alert">
      <Stack align="center" gap="xs">
        <Text size="sm">{reason ? t(`labeling.objects.tiles.reason.${reason}`) : t('labeling.objects.failed')}</Text>
        <Button size="xs" variant="default" style={{ pointerEvents: 'auto' }} onClick={tiles.retry}>
          {t('labeling.objects.again')}
        </Button>
      </Stack>
    </Center>
  );
}

import { Alert, Text } from '@mantine/core';
import { IconPhotoOff } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { damageWords, isTooLarge } from './damage';

/** Says of one file why its picture cannot be read whole, and what follows from that. */
export function DamageNotice({ reason }: { reason: string }) {
  const { t } = useTranslation();
  const whole = isTooLarge(reason);
  return (
    <Alert
      color="orange"
      icon={<IconPhotoOff size={18} />}
      title={t(whole ? 'item.damage.noPreview' : 'item.damage.title')}
      py="xs"
    >
      <Text size="sm">{damageWords(t, reason)}</Text>
      {!whole && <Text size="sm">{t('item.damage.skipped')}</Text>}
    </Alert>
  );
}

import { Tooltip } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { StateBadge } from '@/shared/ui/StateBadge';

export function FileState({ state }: { state: string }) {
  const { t } = useTranslation();
  const badge = <StateBadge state={state} />;
  if (state !== 'local' && state !== 'failed') return badge;
  return (
    <Tooltip label={t(`runpage.files.states.${state}`)} multiline maw={280}>
      <span>{badge}</span>
    </Tooltip>
  );
}

import { SimpleGrid, Text, UnstyledButton } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { FindingCount, FindingKind } from '@/api/contract/datasets';
import { useFormat } from '@/shared/ui/format';
import classes from './cleaning.module.css';

interface KindCardsProps {
  counts: readonly FindingCount[];
  chosen: FindingKind;
  onChoose: (kind: FindingKind) => void;
}

/** How much was found of each kind; a card shows its findings below. */
export function KindCards({ counts, chosen, onChoose }: KindCardsProps) {
  const { t } = useTranslation();
  const format = useFormat();
  return (
    <SimpleGrid cols={{ base: 2, xs: 3, md: 4, lg: 8 }} spacing="sm" role="group" aria-label={t('cleaning.kinds')}>
      {counts.map(({ kind, items, groups }) => (
        <UnstyledButton
          key={kind}
          className={classes.kind}
          aria-pressed={kind === chosen}
          data-none={items === 0 || undefined}
          onClick={() => onChoose(kind)}
        >
          <Text size="xs" fw={600} c="dimmed" component="span" display="block">
            {t(`cleaning.kind.${kind}`)}
          </Text>
          <Text fz={24} fw={680} lh={1.3} className="tabular" component="span" display="block">
            {format.number(items)}
          </Text>
          <Text size="xs" c="dimmed" component="span" display="block">
            {groups > 0 ? t('cleaning.aboutGroups', { count: groups }) : '\u00a0'}
          </Text>
        </UnstyledButton>
      ))}
    </SimpleGrid>
  );
}

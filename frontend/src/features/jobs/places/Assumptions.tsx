import { Code, List, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { ChoiceReason } from '@/api/schema';
import { sayReason } from './sayReason';

/** The assumptions of the costs, and the page that explains them. */
export function Assumptions({ assumptions }: { assumptions: readonly ChoiceReason[] }) {
  const { t } = useTranslation();
  return (
    <details>
      <Text component="summary" size="xs" c="dimmed" style={{ cursor: 'pointer' }}>
        {t('places.assumptions')}
      </Text>
      <List size="xs" c="dimmed" mt={4}>
        {assumptions.map((assumption) => (
          <List.Item key={assumption.code}>{sayReason(assumption)}</List.Item>
        ))}
        <List.Item>
          {t('places.more')} <Code fz="inherit">docs/placement.md</Code>
        </List.Item>
      </List>
    </details>
  );
}

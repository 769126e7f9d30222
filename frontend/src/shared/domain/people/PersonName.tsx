import { Badge, Group, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { CutName } from '@/shared/ui/CutName';

interface PersonNameProps {
  person: { username: string; full_name: string; is_active: boolean };
}

/** A person's full name above the one that they sign in with. */
export function PersonName({ person: { username, full_name, is_active } }: PersonNameProps) {
  const { t } = useTranslation();
  return (
    <Stack gap={0}>
      <Group gap={6} wrap="nowrap">
        <CutName name={full_name || username} />
        {!is_active && (
          <Badge size="xs" color="gray">
            {t('people.inactive')}
          </Badge>
        )}
      </Group>
      {full_name && (
        <Text size="xs" c="dimmed">
          {username}
        </Text>
      )}
    </Stack>
  );
}

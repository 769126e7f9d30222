import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Count } from '@/shared/ui/values';

interface FileCountProps {
  version: { file_count: number; link_count: number } | null | undefined;
}

/** The number of a version's files and, below it, that of its links, if it has some. */
export function FileCount({ version }: FileCountProps) {
  const { t } = useTranslation();
  return (
    <>
      <Count value={version?.file_count} />
      {version && version.link_count > 0 && (
        <Text size="xs" c="dimmed">
          {t('datasets.links', { count: version.link_count })}
        </Text>
      )}
    </>
  );
}

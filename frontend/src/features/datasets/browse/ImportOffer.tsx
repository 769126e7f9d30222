import { Alert, Group, Text } from '@mantine/core';
import { IconFileSearch } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useMay } from '@/shared/domain/project';
import { ButtonLink } from '@/shared/ui/links';
import { useStored } from '@/shared/ui/stored';
import { visible } from '@/shared/ui/visible';
import { useSigns } from '../importing/queries';
import type { VersionAddress } from '../queries';

interface ImportOfferProps {
  address: VersionAddress;
  /** The ref of the page's address: a branch, perhaps. */
  named: string;
}

/** Files of the version look like annotations or archives: they can be imported. Once put away it stays away. */
export function ImportOffer({ address, named }: ImportOfferProps) {
  const { t } = useTranslation();
  const { dataset, ref } = address;
  const may = useMay('researcher');
  const [putAway, setPutAway] = useStored(`atom-import-offer/${address.project}/${dataset}`, '');
  const signs = useSigns(dataset, ref, may).data;
  if (!may || !signs || signs.imported) return null;
  const [sign] = signs.signs;
  const [archive] = signs.archives;
  const first = sign?.first ?? archive?.path;
  // The next version has the same files: they are not offered again.
  if (first === undefined || putAway === first) return null;
  return (
    <Alert
      icon={<IconFileSearch size={18} />}
      mb="sm"
      py="xs"
      title={t('datasets.importOffer', { what: visible(first) })}
      withCloseButton
      closeButtonLabel={t('common.close')}
      onClose={() => setPutAway(first)}
      style={{ overflowWrap: 'anywhere' }}
    >
      <Text size="sm">{t('datasets.importOfferHint')}</Text>
      <Group mt={6}>
        <ButtonLink size="xs" to="/datasets/$name/import" params={{ name: dataset }} search={{ ref: named }}>
          {t('datasets.importOfferStart')}
        </ButtonLink>
      </Group>
    </Alert>
  );
}

import { IconUpload } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useMay } from '@/shared/domain/project';
import { ButtonLink } from '@/shared/ui/links';
import { useHeadBranch, type VersionAddress } from '../queries';
import { DropAnywhere } from './DropAnywhere';

interface UploadIntoProps {
  address: VersionAddress;
  /** The folder that is looked at; empty at the top. */
  folder: string;
}

/** Adds files to the branch whose newest version is looked at: by a button, or by dropping them on the page. */
export function UploadInto({ address, folder }: UploadIntoProps) {
  const { t } = useTranslation();
  const may = useMay('researcher');
  const branch = useHeadBranch(address);
  if (!may || !branch) return null;
  const search = { dataset: address.dataset, branch: branch.name, folder: folder || undefined };
  return (
    <>
      <ButtonLink to="/uploads" search={search} variant="default" leftSection={<IconUpload size={15} />}>
        {t('upload.link')}
      </ButtonLink>
      <DropAnywhere label={t('upload.dropHere', { name: address.dataset })} search={() => search} />
    </>
  );
}

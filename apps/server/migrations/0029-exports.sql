-- Files of assets go to addresses of customers. What such a task is to do, with its headers, lies in the table `transcode` as long as there.
alter table task drop constraint task_type_check;
alter table task add constraint task_type_check check (type in ('upload', 'transcode-file', 'export', 'clip'));

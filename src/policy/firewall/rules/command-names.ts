/** Programs and built-in commands of shells, by how a reader of plain text would take their names. */
const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Names that are words of no language. */
export const oddUnixCommands = words(`
	apport-cli aptitude cdist check_by_ssh check_cups check_log check_memory check_raid check_ssl_cert check_statusfile easy_install iftop jtag multitime nbtscan posh
	rpcinfo run0 showmount tdbtool tic timedatectl torify torsocks unix2dos w3m xdg-user-dir yash c89 c99 lastlogin kubectl helm salt cscli knife 7z 7za 7zr a2p aa-exec ab adb addgroup addpart addr2line adduser agetty alpine ansible-pull ansible-playbook ansible-test ansible-vault aoss
	apk apt apt-cache apt-get apt-key ar arandr aria2c arj arp ascii-xfr ash aspell atobm autossh awk b2sum badblocks base32 base58 base64 basename
	basenc bash bbot bconsole bg blkid bpftrace brctl bsd-csh bsdtar bunzip2 busctl busybox bzcat bzdiff bzegrep bzfgrep bzgrep bzip2 bzless bzmore cabal
	capsh certbot chattr chcon chef-client chef-solo chef-vault chfn chgrp chmod chown chpasswd chroot chrt chsh cksum clang clang++ cmp cobc
	 comm cowsay cowthink cpan cpanm cpio cpp cpulimit crontab csh csplit csvtool cupsfilter curl dash dd debugfs dhclient diff dig
	dirname dmesg dmidecode dmsetup dnf dnsdomainname docker-compose dosbox dpkg dpkg-query dstat dvips ebtables efax egrep elinks elvish
	 enscript env envsubst ethtool fallocate fc-list fdisk fgrep fmt fping fsck ftp fuser fusermount fzf g++ gawk gcc gcloud gcore gdb gem
	genie genisoimage getcap getconf getent getfacl getopts ghc ghci ginsh git-receive-pack git-shell gnuplot gpg gprof grep grc groff groupadd
	groupdel groupmod gtester gunzip gzexe gzip hd hexdump hexedit hostid hostname hostnamectl hping3 htop httpie iconv iftop ifconfig ifdown
	ifup iotop ionice ip ip6tables iptables iptables-save irb ispell jailkit javac jjs jobs journalctl jq jrunscript jshell k3s kmod
	 ksh ksshell kubectl kubeadm lastb lastlog latexmk ld ld.so ldapsearch ldconfig ldd lftp ln loginctl logname logsave lp lpr lpstat ls
	lsattr lsb_release lsblk lscpu lshw lsmod lsof lspci lsusb ltrace lualatex luatex lwp-download lwp-request lynx lz4 lzcat lzma mailq mailx 
	mawk mc md5 md5sum minicom mkdir mkfifo mkfs mknod mkpasswd mkswap mktemp modprobe mosquitto msfconsole msfvenom msgattrib msgcat msgconv
	msgfilter msgmerge msguniq mtr mutt mv mysqladmin mysqldump nano nasm nawk nc nc.openbsd nc.traditional ncal ncat ncftp ncdu neofetch netcat
	netplan netstat newgrp nft ngrep ngrok nl nm nmap nmcli nohup npx nroff nsenter nslookup ntpdate ntpq od onesixtyone
	openssl openvpn openvt opkg p7zip pacman parted passwd paste patch pdb pdflatex pdfjam pdftex perf perlbug pexec pftp pgrep 
	 pico pidof pidstat pinfo ping6 pip pip3 pkexec pkg pkill pm2 pmap podman popd poweroff powershell printenv printf pry ps psad psftp psql
	pstree ptx pushd pv pwd pwdx pwsh pyenv qemu-img rbash rclone readelf readlink realpath redis-cli renice
	restic rev rgrep rlogin rlwrap rm rmdir rmt rpcclient rpm rpmdb rpmquery rpmverify rsh rsync rtorrent rundoc run-mailcap run-parts rustc runuser
	rview rvim scanmem scp scrot sdiff sed sendmail setarch setcap setenv setfacl setlock setpriv setsid sftp sg sh sha1sum sha256sum sha512sum
	shasum shopt shuf slsh smbclient snap socat socket soelim softlimit sqlite3 sqlmap ss ssh ssh-agent ssh-copy-id ssh-keygen ssh-keyscan sshfs sshpass
	start-stop-daemon stdbuf strace stty su sudo sudoedit svn svnadmin swapoff swapon sysctl systemctl systemd-resolve systemd-run tac tailscale tar taskset
	tasksh tbl tclsh tcpdump tcsh tee telnet tex tftp tmate tmux traceroute traceroute6 troff truncate tshark tsc tsx ul umask umount
	uname uncompress unexpand unlink unlzma unrar unset unshare unsquashfs unxz unzip unzstd update-alternatives useradd userdel usermod usleep uudecode
	uuencode uuidgen valgrind vgdb vi vigr vimdiff vipw virsh visudo vmstat volatility wc wget whiptail whoami whois wireshark-cli 
	xargs xdotool xelatex xetex xmllint xmodmap xmore xpad xterm xxd xz xzcat xzdiff xzgrep xzless xzmore yelp yum zathura zcat zcmp zdiff zegrep
	zfgrep zgrep zip zipdetails zless zmore zsh zsoelim zstd zstdcat zypper echo id ftpget ftpput bzr cscli crowdsec sysdig osqueryi pstack ghostscript
	gs dos2unix exiftool jhead convert-im mogrify ffmpeg ffprobe wkhtmltopdf certutil bitsadmin pear pecl phpize iex elixir 
	cscript lein clj sbcl gforth rscript bundler uwsgi gunicorn mamba pipx uv ts-node
`);

/** Names that are words too, so that they need what only commands have behind them. */
export const wordUnixCommands = words(`
	alias arch as at batch bind break bridge builtin cat cal cancel case cd check choom clear col command compress continue coproc cp crash cut date declare
	df dir disown do done du ed eval exec exit expand export expr facter factor false fc fg file find finger fish flock fold for free function groups
	halt hash head help history host hping if init inotify install irc join kill killall less let line link local locale locate login logger logout look
	look lsns man mesg more mount nice not nproc open pager parallel pg ping pr print prlimit prove pwconv quota rake read reboot rename reset return route
	scale screen script seq service set shift shutdown sleep snap sort source split start stat strings style suspend sum switch sync tail talk task
	test then time timeout times top touch tr trap tree true tsort tty type typeset ulimit unalias uniq until up uptime users view w wait wall watch when
	which while who wish write yes zip apropos
	ansible aws az bun bundle cargo chef column composer conda deno dialog docker dotnet emacs erl expect flask gimp git groovy highlight host java joe julia knife kotlin last latex lua mail make mix mysql nginx node nodejs npm octave pandoc pax perl perms php php5 php7 php8 pic poetry puppet python python2 python3 r rails rake raku red redcarpet ruby sash scala swift terraform tidy vagrant vim wireshark yarn
`);

/** Commands that run another one, which stands behind them. */
export const prefixCommands = words(
	'sudo doas nohup time exec command builtin env nice setsid then do else stdbuf ionice timeout xargs busybox eval strace watch unbuffer',
);

export const shells = words('sh bash dash ash zsh ksh csh tcsh fish rbash pwsh');

export const oddWindowsCommands = words(`
	addinutil appcmd appvlp arp assoc attrib auditpol bash bcdboot bcdedit bitsadmin bootcfg cacls certoc certreq certutil chcp chdir chkdsk chkntfs cipher
	cleanmgr cls cmd cmdkey cmdl32 cmstp colorcpl compmgmtlauncher cscript csvde csc cscli defrag del desktopimgdownldr devcon devicecredentialdeployment dfsvc
	diantz dir diskpart diskshadow dnscmd doskey dotnet driverquery dsadd dsget dsmod dsquery dsrm dxcap erase esentutl eventcreate eventvwr extexport
	extrac32 fc findstr finger fltmc fodhelper forfiles fsutil ftype gpresult gpscript gpupdate getmac hh hostname icacls ie4uinit ie4ushowie iediagcmd
	ieexec ilasm infdefaultinstall installutil ipconfig jsc ldifde logoff lodctr makecab manage-bde mavinject md microsoft.workflow.compiler mklink mmc
	mofcomp mountvol mpcmdrun msbuild msconfig msdeploy msdt msedge mshta msiexec msra mstsc nbtstat net1 netcfg netdom netsh netstat nltest nslookup ntbackup
	ntdsutil ntrights odbcconf offlinescannershell onedrivestandaloneupdater openfiles pathping pcalua pcwrun pcwutl perfmon pktmon pnputil popd powercfg
	powershell powershell_ise presentationhost printbrm procdump protocolhandler provlaunch psexec psexec64 pskill pslist psloggedon psr pushd pwsh quser
	qprocess qwinsta rasautou rasdial rd rdrleakdiag reg regasm regedit regedt32 regini register-cimprovider regsvcs regsvr32 ren robocopy rpcping rundll32 runas
	runexehelper runonce runscripthelper rwinsta schtasks scriptrunner sc sdbinst secedit setres setx sfc shdocvw shimgvw sigverif sqldumper sqlps sqltoolsps squirrel
	ssh stordiag subst sxstrace syncappvpublishingserver sysprep systeminfo takeown taskkill tasklist tracert tracerpt tscon tsdiscon ttdinject tttracer typeperf
	unregmp2 utilityfunctions vbc verclsid vssadmin w32tm wab wbadmin wbemtest wdac wecutil wevtutil whoami winget winrm winrs wlrmdr wmic workfolders wscript wsl wsreset
	wt wuauclt wusa xcopy xwizard ver vol comp
`);

export const wordWindowsCommands = words(`
	at call cd control copy date echo edit exit expand explorer find for format ftp help hostname if label mode more move net path pause ping print
	prompt recover rename replace set shutdown sort start telnet time timeout title tree type where wait query
`);
